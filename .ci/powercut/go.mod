// A file system that loses what was not synced, for the tests of power cuts.
module example.com/projecthub/ci/powercut

go 1.26.0

require github.com/hanwen/go-fuse/v2 v2.12.1

require golang.org/x/sys v0.28.0 // indirect
