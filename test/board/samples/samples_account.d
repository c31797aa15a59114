/* All samples, and those left out: together they are the time. */
profile-1999 {
	@ = count();
	@missed = sum(arg3);
}
profile-1999 /first == 0/ { first = timestamp; }
profile-1999 { last = timestamp; }
END {
	trace(first);
	trace(last);
}
