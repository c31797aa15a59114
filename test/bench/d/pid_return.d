pid*::probed:return {}
