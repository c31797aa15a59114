bench:bench_d::passed {}
