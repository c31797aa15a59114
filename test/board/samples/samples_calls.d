/* Work for D in each kernel call, which is done with interrupts masked. */
syscall:::entry, syscall:::return /execname == "t_samples"/ {
	@[probefunc, arg0 % 16] = quantize(timestamp);
}
