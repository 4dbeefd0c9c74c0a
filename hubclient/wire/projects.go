package wire

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Visibility says who may read a project: its account's readers, or everyone.
type Visibility string

// The visibilities of projects.
const (
	Private Visibility = "private"
	Public  Visibility = "public"
)

// Latest is the stack version of a project that follows the highest release.
const Latest = "latest"

// CreateProject is the body of POST /v1/projects.
type CreateProject struct {
	Account      string     `json:"account"`
	Slug         string     `json:"slug"`
	Stack        string     `json:"stack,omitzero"` // account/slug
	StackVersion string     `json:"stackVersion,omitzero"`
	API          ref.Ref    `json:"api,omitzero"`
	Visibility   Visibility `json:"visibility,omitzero"`

	// CopyOf is the project whose stack, stack version, API, config and base files the new
	// one gets; the first three are then absent here.
	CopyOf ref.Ref `json:"copyOf,omitzero"`

	// ExpiresAt is when the hub deletes the project; the zero time: never.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`

	// Then is for a dry run alone, in which API may be absent, too.
	Then *Then `json:"then,omitzero"`
}

// Then is what will be sent once the project is created, which a dry run checks, too.
type Then struct {
	// Of the API description that will be registered.
	SHA256 string `json:"sha256,omitzero"`
	Title  string `json:"title,omitzero"`

	ConfigBytes int64 `json:"configBytes,omitzero"` // of the flat config in canonical form
	ConfigKeys  int   `json:"configKeys,omitzero"`
	ConfigDepth int   `json:"configDepth,omitzero"`

	BaseFiles      int    `json:"baseFiles,omitzero"`
	BaseFilesBytes int64  `json:"baseFilesBytes,omitzero"`
	LargestFile    string `json:"largestFile,omitzero"`
	LargestBytes   int64  `json:"largestBytes,omitzero"`
}

// ProjectPlan is the response to POST /v1/projects?dryRun=1.
type ProjectPlan struct {
	Project              ref.Ref `json:"project"`
	Stack                string  `json:"stack"` // account/slug
	StackVersion         string  `json:"stackVersion"`
	ResolvedStackVersion string  `json:"resolvedStackVersion"`
	SimilarAPIs          []API   `json:"similarAPIs"` // of the account, with the same description, or the same title
}

// EditProject is the body of PATCH /v1/projects/{account}/{slug}: what is absent stays as it is.
type EditProject struct {
	Visibility   Visibility `json:"visibility,omitzero"`
	StackVersion string     `json:"stackVersion,omitzero"` // latest, or an exact version
	API          ref.Ref    `json:"api,omitzero"`

	// Slug renames the project: its former address leads to it until another project has that name. It
	// needs the role admin.
	Slug string `json:"slug,omitzero"`

	// PublicPreview publishes what the preview of a public project is made from: the stack's
	// version and the API description. It needs the role admin on the accounts of all three.
	PublicPreview *bool `json:"publicPreview,omitzero"`

	// EnforceSchema has the hub refuse settings that the schema of the stack does not
	// allow. It needs the role admin.
	EnforceSchema *bool `json:"enforceSchema,omitzero"`
}

// Project describes a project.
type Project struct {
	Project              ref.Ref       `json:"project"`
	Stack                string        `json:"stack"`                    // account/slug
	StackVersion         string        `json:"stackVersion"`             // latest, or an exact version
	UseStackVersion      string        `json:"useStackVersion,omitzero"` // instead of a withdrawn stackVersion
	ResolvedStackVersion string        `json:"resolvedStackVersion"`     // the version that StackVersion is today
	API                  ref.Ref       `json:"api"`
	Visibility           Visibility    `json:"visibility"`
	PublicPreview        bool          `json:"publicPreview,omitzero"` // readers may read its stack version and API
	EnforceSchema        bool          `json:"enforceSchema,omitzero"` // settings have to pass the stack's schema
	URL                  string        `json:"url"`                    // of the project's page
	CreatedAt            time.Time     `json:"createdAt"`
	CreatedBy            string        `json:"createdBy"`
	ExpiresAt            time.Time     `json:"expiresAt,omitzero"` // when the hub deletes it
	Config               ConfigState   `json:"config"`
	BaseFiles            *BaseFilesSum `json:"baseFiles"` // null: none were pushed
}

// ConfigState describes a config without its content.
type ConfigState struct {
	Edit
	HasConfig bool `json:"hasConfig"` // it has at least one member
}

// BaseFilesSum describes a set of base files without listing it.
type BaseFilesSum struct {
	Tree  string `json:"tree"` // the set's digest
	Count int    `json:"count"`
	Bytes int64  `json:"bytes"`
}

// Projects is a page of a list of projects; NextCursor is "" on the last one.
type Projects struct {
	Projects   []Project `json:"projects"`
	NextCursor string    `json:"nextCursor"`
}

// Deleted is the response to the deletion of a project. Existed is false if there was no project.
type Deleted struct {
	Project ref.Ref `json:"project"`
	Existed bool    `json:"existed"`

	// RestorableUntil is how long the project can be restored; zero: it cannot.
	RestorableUntil time.Time `json:"restorableUntil,omitzero"`
	RevokedTokens   int       `json:"revokedTokens,omitzero"` // that were restricted to the project
}

// DeletedProject is a project that was deleted and can be restored.
type DeletedProject struct {
	Project         ref.Ref   `json:"project"`
	DeletedAt       time.Time `json:"deletedAt"`
	DeletedBy       string    `json:"deletedBy"`
	RestorableUntil time.Time `json:"restorableUntil"`
}

// DeletedProjects is a page of the projects that can be restored.
type DeletedProjects struct {
	Projects   []DeletedProject `json:"projects"`
	NextCursor string           `json:"nextCursor"`
}

// RestoreProject is the body of POST …/restore, which may be left out.
type RestoreProject struct {
	As string `json:"as,omitzero"` // the slug under which the project is restored; "": its own
}

// Restored is the response to the restoration of a project. Existed: it was not deleted.
type Restored struct {
	Project ref.Ref `json:"project"` // under its new name
	Existed bool    `json:"existed"`
}

// Config is a project's config: flat keys, each with the literal text of its value.
type Config struct {
	Project ref.Ref        `json:"project"`
	Config  jsontext.Value `json:"config"`
	ConfigState
}

// PutConfig is the body of PUT …/client-config. Settings nil: nothing is written.
type PutConfig struct {
	Source   jsontext.Value `json:"source,omitzero"` // accepted and ignored
	Settings jsontext.Value `json:"settings,omitzero"`
}

// CheckSettings is the body of POST /v1/settings/check: settings, and the JSON Schema to check them against.
type CheckSettings struct {
	Schema   jsontext.Value `json:"schema"`
	Settings jsontext.Value `json:"settings"`
}

// CheckedSettings is the response: what the schema does not allow, at most 100, with pointers into the settings.
type CheckedSettings struct {
	Findings []FieldError `json:"findings"`
}

// PatchConfig is the body of PATCH …/config: flat keys.
type PatchConfig struct {
	Set    jsontext.Value `json:"set,omitzero"`
	Remove []string       `json:"remove,omitzero"`
}

// ConfigWritten is the response to a write of the config, with the config that it replaced.
type ConfigWritten struct {
	Project                 ref.Ref        `json:"project"`
	Config                  jsontext.Value `json:"config"`
	Revision                string         `json:"revision"`
	EnrichmentCount         int            `json:"enrichmentCount"`
	OverwroteExistingConfig bool           `json:"overwroteExistingConfig"`
	Replaced                *Replaced      `json:"replaced"` // null: there was no config

	// Findings is what the schema of the stack's version does not allow in the settings, at most 100, and
	// which of them look like credentials, at most 20; with pointers into the settings.
	Findings []FieldError `json:"findings,omitzero"`

	// If the project's stack version was withdrawn: that one, and the one to use instead.
	StackVersion    string `json:"stackVersion,omitzero"`
	UseStackVersion string `json:"useStackVersion,omitzero"`
}

// Replaced is the config that a write replaced.
type Replaced struct {
	Config jsontext.Value `json:"config"`
	Edit
}

// BaseFiles lists the base files of a project.
type BaseFiles struct {
	BaseFilesSum
	UpdatedAt time.Time    `json:"updatedAt"`
	UpdatedBy string       `json:"updatedBy"`
	Files     []tree.Entry `json:"files"`
}

// BaseFilesWritten is the response to a push of base files.
type BaseFilesWritten struct {
	Project         ref.Ref `json:"project"`
	Tree            string  `json:"tree"`
	BaseFilesPushed int     `json:"baseFilesPushed"` // files in the set
	Added           int     `json:"added"`
	Changed         int     `json:"changed"`
	Removed         int     `json:"removed"`
	Uploaded        int     `json:"uploaded"`      // blobs that this request uploaded
	BytesReceived   int64   `json:"bytesReceived"` // of the body, as received
}

// UploadType is the media type of a push that uploads only missing blobs: a list of zstd frames, each
// after its length as an unsigned varint. The first one is the list of files in canonical form, or
// with ?base= a patch of the list with that digest; the others are files, in any order.
const UploadType = "application/vnd.hub.base-files"

// PlanBaseFiles asks which blobs a push has to upload. Without digests it asks whether the project has
// the tree.
type PlanBaseFiles struct {
	Tree    string   `json:"tree"`
	Digests []string `json:"digests,omitzero"`
}

// PlannedBaseFiles is the response to PlanBaseFiles.
type PlannedBaseFiles struct {
	Current   string   `json:"current,omitzero"` // digest of the stored set, "": none
	Unchanged bool     `json:"unchanged"`        // it is the tree, and none of the digests is missing
	Missing   []string `json:"missing"`          // those of the digests that are not stored
}

// Description is the part of a hub's OpenAPI description that a client needs.
type Description struct {
	Info struct {
		Limits Limits `json:"x-limits"`
	} `json:"info"`
}

// Limits bound what a hub accepts in a push; 0 means no limit. Sizes are bytes.
type Limits struct {
	ConfigBytes    int64 `json:"configBytes"`
	ConfigKeys     int   `json:"configKeys"`
	ConfigDepth    int   `json:"configDepth"`
	BaseFiles      int   `json:"baseFiles"`
	BaseFileBytes  int64 `json:"baseFileBytes"`
	BaseFilesBytes int64 `json:"baseFilesBytes"`
}
