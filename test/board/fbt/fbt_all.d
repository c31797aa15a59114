/* Every function there is. */
#pragma D option aggsize=24k
fbt::: { @ = count(); }
