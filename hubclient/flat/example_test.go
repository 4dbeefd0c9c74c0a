package flat_test

import (
	"fmt"

	"example.com/projecthub/hubclient/flat"
)

func ExampleFold() {
	config, err := flat.Fold([]byte(`{"basePath": "src", "theme": {"color": "teal", "v1.0": true}}`))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", config.Canonical())
	fmt.Printf("%s\n", config.Unfold())
	// Output:
	// {"basePath":"src","theme.color":"teal","theme.v1\\.0":true}
	// {"basePath":"src","theme":{"color":"teal","v1.0":true}}
}

func ExampleDiff() {
	from, _ := flat.Fold([]byte(`{"color": "teal", "size": 12}`))
	to, _ := flat.Fold([]byte(`{"color": "plum", "title": "Home"}`))
	d := flat.Diff(from, to)
	fmt.Println(d.Added, d.Removed, d.Changed)
	// Output:
	// [{title "Home"}] [{size 12}] [{color "teal" "plum"}]
}
