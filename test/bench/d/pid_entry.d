pid*::probed:entry {}
