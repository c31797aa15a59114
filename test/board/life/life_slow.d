/* Each takes longer than the time between two: looks for what is not in a long text. */
#pragma D option strsize=1k
#pragma D option bufsize=20k
tick-200us, profile-4999, profile-4001 {
	this->s = "aaaaaaaa";
	this->s = strjoin(this->s, this->s);
	this->s = strjoin(this->s, this->s);
	this->s = strjoin(this->s, this->s);
	this->s = strjoin(this->s, this->s);
	this->t = strjoin(this->s, "b");
	this->s = strjoin(this->s, this->s);
	this->s = strjoin(this->s, this->s);
	@[index(this->s, this->t)] = count();
	@[index(this->s, this->t)] = count();
	@[index(this->s, this->t)] = count();
}
