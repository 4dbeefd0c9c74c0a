package failure

import "example.com/projecthub/hubclient/wire"

// Codes of failures that no hub reports. Package hubclient has more.
const (
	CodeNoToken          wire.Code = "no_token"
	CodeNotLoggedIn      wire.Code = "not_logged_in"
	CodeNotRecorded      wire.Code = "not_recorded"
	CodeNoConfig         wire.Code = "no_config"
	CodeNoSettings       wire.Code = "no_settings"
	CodeNoBaseFiles      wire.Code = "no_base_files"
	CodeWouldUndoEdits   wire.Code = "would_undo_edits"
	CodeConflict         wire.Code = "conflict"
	CodeInterrupted      wire.Code = "interrupted"
	CodeInvalidFile      wire.Code = "invalid_file"
	CodeNoDestination    wire.Code = "no_destination"
	CodeNoWorkspace      wire.Code = "no_workspace"
	CodeNoLocalProject   wire.Code = "no_local_project"
	CodeOutsideWorkspace wire.Code = "outside_workspace"
	CodeTokenInFile      wire.Code = "token_in_file"
	CodeSecretFound      wire.Code = "secret_found"
	CodeNothingKept      wire.Code = "nothing_kept"
	CodeSomeFailed       wire.Code = "some_failed" // of several local projects
	CodeCheckFailed      wire.Code = "check_failed"
	CodeFilesDiffer      wire.Code = "files_differ"
	CodeFilesUnconfirmed wire.Code = "files_unconfirmed"
)
