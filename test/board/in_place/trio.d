/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the log keeps of the pipeline: all of its own three processes, and not of linkd and tracelogger, whose
 * events would be more with each byte that they send. They are 3 and 4, by the start script.
 */
sdt:::comm_* /pid > 4/ {}
sdt:::thread_* /arg0 > 4/ {}
