package ref_test

import (
	"fmt"

	"example.com/projecthub/hubclient/ref"
)

func ExampleParse() {
	r, err := ref.Parse("@acme/web")
	fmt.Println(r, r.Account(), r.Slug(), err)
	_, err = ref.Parse("acme/web")
	fmt.Println(err)
	// Output:
	// @acme/web acme web <nil>
	// "acme/web" is not of the form @account/slug
}

func ExampleNew() {
	_, err := ref.New("acme", "My Site")
	fmt.Println(err)
	// Output:
	// "My Site" is not a slug: a slug is 1 to 64 characters of a-z, 0-9 and -; it cannot start or end with -
}
