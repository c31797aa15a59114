/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program that the shell waits for, and ^C, which the console sends as a pulse to a thread of
 * the shell: it ends that program and all programs that it has started. Without a console server
 * there is no ^C. Tested by test/board/shell.py.
 */
#ifndef APPS_SHELL_FOREGROUND_H
#define APPS_SHELL_FOREGROUND_H

/* Starts the thread that receives ^C. Called once, by the main thread. */
void foreground_begin(void);
/* Called before the shell reads a line: ^C ends the line. */
void foreground_none(void);
/* Waits for the child; ^C ends it meanwhile. Like ProcWait(pid, status, 0). */
int foreground_wait(int pid, int *status);

#endif
