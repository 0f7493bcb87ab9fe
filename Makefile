# Targets: build, run, test, lint, interop, interop-writers, bench, bench-writes, bench-stream, bench-upserts, microbench.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LISTEN  ?= 127.0.0.1:3306

# Tests run in a random time zone, so that none depends on the zone of the
# machine. Choose one with: make test TZ=Asia/Kathmandu
ZONES := UTC Europe/Vienna America/New_York America/St_Johns Asia/Kathmandu Asia/Tokyo \
         Australia/Lord_Howe Pacific/Apia Pacific/Chatham Pacific/Marquesas Africa/Monrovia America/Caracas
ifeq ($(origin TZ),undefined)
TZ := $(shell shuf -n 1 -e $(ZONES))
endif

# The race detector needs cgo and a C compiler, for the test binaries only.
HAVE_CC := $(shell command -v "$$(go env CC)" >/dev/null 2>&1 && echo yes)

.PHONY: build run test lint interop interop-writers bench bench-writes bench-stream bench-upserts microbench clean

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o build/tributary ./cmd/tributary

# The sample warehouse: an online shop over thirty days.
build/shop.stamp: testdata/golden/shop/warehouse.tar.zst
	rm -rf build/shop
	go run testdata/golden/unpack.go shop build/shop
	touch $@

run: build build/shop.stamp
	build/tributary serve --warehouse build/shop --listen $(LISTEN)

test:
	@echo "time zone of this run: TZ=$(TZ)"
ifeq ($(HAVE_CC),yes)
	TZ=$(TZ) CGO_ENABLED=1 go test -race -timeout 60m ./...
	@echo "faults at every file operation, writes and changelogs of all kinds of tables, of which the race detector saw a part"
	TZ=$(TZ) CGO_ENABLED=0 go test -timeout 60m ./sqlengine/faults ./storage/table
else
	@echo "no C compiler: running without the race detector"
	TZ=$(TZ) CGO_ENABLED=0 go test -timeout 60m ./...
endif

lint:
	@bad="$$(gofmt -l .)"; if [ -n "$$bad" ]; then echo "not formatted by gofmt:"; echo "$$bad"; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	.ci/dependencies
	.ci/layers

interop: build
	sqltests/interop/run.sh build/tributary
	sqltests/interop/exchange.sh build/tributary

# Apache Paimon and two servers write and compact the same tables, in turn and at once.
interop-writers: build
	INTEROP_ROUNDS=8 INTEROP_TOGETHER=20s sqltests/interop/exchange.sh build/tributary -

# Against other engines on generated data, see docs/benchmarks.md: make bench ROWS=1000000 ROWS_WRITE=500000
# WRITES=no leaves the writing out, STREAMS=no following a table; bench-writes measures writing only. With PROFILE=folder only CPU profiles are written.
ROWS       ?= 10000000
ROWS_WRITE ?= 5000000
ROUNDS     ?= 5
THREADS    ?= 2
WRITES     ?= yes
STREAMS    ?= yes
PROFILE    ?=
BENCH_FLAGS = -rows $(ROWS) -rows-write $(ROWS_WRITE) -rounds $(ROUNDS) -threads $(THREADS) -profile '$(PROFILE)'
bench: build
	CGO_ENABLED=0 go build -o build/bench/bench ./sqltests/bench
	build/bench/bench $(BENCH_FLAGS) -writes=$(if $(filter yes,$(WRITES)),true,false) -streams=$(if $(filter yes,$(STREAMS)),true,false)

bench-writes: build
	CGO_ENABLED=0 go build -o build/bench/bench ./sqltests/bench
	build/bench/bench $(BENCH_FLAGS) -reads=false -streams=false

# A streaming SELECT beside a writer, with the server's memory: make bench-stream MINUTES=10
MINUTES ?= 10
bench-stream: build
	CGO_ENABLED=0 go build -o build/bench/bench ./sqltests/bench
	build/bench/bench -threads $(THREADS) -soak $(MINUTES)m

# Upserts with compactions beside them, what reading costs before and after, and queries of three states of the same rows:
# make bench-upserts ROWS=1000000 UPSERTS=20 UPSERT_ROWS=20000 UPSERT_KEYS=200000
UPSERTS     ?= 60
UPSERT_ROWS ?= 100000
UPSERT_KEYS ?= 2000000
bench-upserts: build
	CGO_ENABLED=0 go build -o build/bench/bench ./sqltests/bench
	build/bench/bench -rows $(ROWS) -rounds $(ROUNDS) -threads $(THREADS) -upserts -upsert-rounds $(UPSERTS) -upsert-rows $(UPSERT_ROWS) -upsert-keys $(UPSERT_KEYS)

# make microbench BENCH=Scan PKG=./storage/read/
BENCH ?= .
PKG   ?= ./...
microbench:
	CGO_ENABLED=0 go test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

clean:
	rm -rf build
