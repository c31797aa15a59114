/* Where a program's two threads were, of which one is not the one that asks: t_samples.c. */
#pragma D option bufsize=32k
profile-1999 /execname == "t_samples" && tid != 1/ {
	trace(arg0);
	trace(arg1);
	trace(arg2);
	trace(arg3);
}
