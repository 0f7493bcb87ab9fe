//go:build deps

// Package tributary pins the modules that the packages below are about to use.
package tributary

import (
	_ "github.com/RoaringBitmap/roaring/v2"
	_ "github.com/anchore/go-lzo"
	_ "github.com/andybalholm/brotli"
	_ "github.com/cespare/xxhash/v2"
	_ "github.com/dolthub/go-mysql-server/memory"
	_ "github.com/dolthub/go-mysql-server/server"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/lestrrat-go/strftime"
	_ "github.com/parquet-go/parquet-go"
	_ "github.com/peterh/liner"
	_ "github.com/pierrec/lz4/v4"
	_ "github.com/twmb/avro"
	_ "golang.org/x/sync/errgroup"
)
