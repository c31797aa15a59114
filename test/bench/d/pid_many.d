pid*::many: {}
