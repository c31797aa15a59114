#pragma D option bufsize=64k
fbt::: {}
