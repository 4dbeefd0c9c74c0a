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
	for _, c := range flat.Diff(from, to) {
		fmt.Printf("%s %s: from %q to %q\n", c.Sign(), c.Key, c.From, c.To)
	}
	// Output:
	// ~ color: from "\"teal\"" to "\"plum\""
	// - size: from "12" to ""
	// + title: from "" to "\"Home\""
}
