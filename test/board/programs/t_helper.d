/* SPDX-License-Identifier: BSD-2-Clause */
/* Believes all that a frame says, and follows four pointers of it. */
dtrace:helper:ustack:helped
{
	this->at = (struct helped *)copyin(arg1, sizeof (struct helped));
	this->walked = 0;
}

dtrace:helper:ustack:helped
/this->at->magic == HELPED_MAGIC/
{
	this->name = copyinstr((uintptr_t)this->at->name);
	this->next = (uintptr_t)this->at->next;
	this->rings = this->next == (uintptr_t)&`loop;
	this->name;
}

dtrace:helper:ustack:helped
/this->next/
{
	this->next = (uintptr_t)((struct helped *)copyin(this->next, sizeof (struct helped)))->next;
	this->walked += 1;
}

dtrace:helper:ustack:helped
/this->next/
{
	this->next = (uintptr_t)((struct helped *)copyin(this->next, sizeof (struct helped)))->next;
	this->walked += 1;
}

dtrace:helper:ustack:helped
/this->next/
{
	this->next = (uintptr_t)((struct helped *)copyin(this->next, sizeof (struct helped)))->next;
	this->walked += 1;
}

dtrace:helper:ustack:helped
/this->walked/
{
	strjoin(this->name, strjoin(" ", lltostr(this->walked)));
}

dtrace:helper:ustack:helped
/this->walked && this->rings/
{
	strjoin(copyinstr((uintptr_t)&`helped_ring), strjoin(" and ", this->name));
}
