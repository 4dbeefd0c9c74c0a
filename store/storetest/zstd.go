package storetest

import "github.com/klauspost/compress/zstd"

// CompressWith returns data in one zstd frame that needs another content, its dictionary, to be read.
func CompressWith(data, dictionary []byte) []byte {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderDictRaw(1, dictionary),
		zstd.WithWindowSize(4<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer e.Close()
	return e.EncodeAll(data, nil)
}
