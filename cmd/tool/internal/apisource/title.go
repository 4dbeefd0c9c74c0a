package apisource

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"
)

// Title returns info.title of an API description, "" for none.
func Title(document []byte) string {
	var found struct {
		Info struct {
			Title string `json:"title" yaml:"title"`
		} `json:"info" yaml:"info"`
	}
	var err error
	if jsontext.Value(document).IsValid() {
		err = json.Unmarshal(document, &found)
	} else {
		err = yaml.Unmarshal(document, &found)
	}
	if err != nil {
		return ""
	}
	return found.Info.Title
}
