/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names the frames of vm_run() by the function that it interprets, and the place in that. arg1 is
 * the stack pointer, where vm_run() has its struct vm_frame.
 */
dtrace:helper:ustack:vm_run
{
	this->frame = (struct vm_frame *)copyin(arg1, sizeof (struct vm_frame));
}

dtrace:helper:ustack:vm_run
/this->frame->magic == VM_FRAME_MAGIC/
{
	this->function = (struct vm_function *)copyin((uintptr_t)this->frame->function,
	    sizeof (struct vm_function));
	strjoin(copyinstr((uintptr_t)this->function->name),
	    strjoin("+", lltostr(this->frame->pc)));
}
