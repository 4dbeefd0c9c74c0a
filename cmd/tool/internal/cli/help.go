package cli

import (
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/identity"
)

// helpCommand shows the help of a command or a topic, and refuses what is neither.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [<command>]",
		Short: "Show the help of a command or a topic",
		Args: func(_ *cobra.Command, args []string) error {
			found, rest, _ := root.Find(args)
			return noSuchCommand(found, rest)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			found, _, _ := root.Find(args)
			var names []string
			for _, c := range found.Commands() {
				if !c.Hidden {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			found, _, err := root.Find(args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// helpTemplate is a command's description, or a topic.
const helpTemplate = `{{or .Long .Short}}
{{if or .Runnable .HasSubCommands}}
{{.UsageString}}{{end}}`

// usageTemplate is what --help and help print below a command's description.
const usageTemplate = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} <command>{{else}}{{.UseLine}}{{end}}
{{- if .HasAvailableSubCommands}}{{$commands := .Commands}}
{{- if .Groups}}{{range $group := .Groups}}

{{$group.Title}}{{range $commands}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- else}}

Commands:{{range $commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
{{- if .HasAvailableInheritedFlags}}

Flags of every command:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
{{- if .HasHelpSubCommands}}

More help:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  tool help {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}

Exit codes: 0 done, 1 failed, 2 usage; more in tool help exit-codes
`

// topics returns the help that belongs to no command.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "environment", Short: "Environment variables", Long: environmentHelp},
		{Use: "exit-codes", Short: "Exit codes and stages", Long: exitCodesHelp},
		{Use: "results", Short: "JSON results", Long: resultsHelp},
	}
}

var environmentHelp = `Environment variables. An empty one counts as unset.

  TOOL_HUB_TOKEN    personal access token, where --token is not given
  TOOL_API_ORIGIN   hub's address, where --origin is not given
  TOOL_CONFIG_DIR   directory of the login file (default: tool in the user's
                    configuration directory)
  TOOL_STATE_DIR    directory of what a push or a pull replaced, for --undo (default:
                    tool in the user's state directory)
  TOOL_CA_FILE      certificates in PEM form to trust besides the system's
  TOOL_ALLOW_HTTP   1 lets a token travel over plain http beyond this machine
  HTTPS_PROXY       proxy for https
  NO_PROXY          hosts that are reached without the proxy
  ACCESSIBLE        1 asks in plain lines, for a screen reader; so does TERM=dumb
  NO_COLOR          any value: no colour
  CLICOLOR_FORCE    1: colours on a terminal that does not say it has them
  FORCE_HYPERLINK   1: the page's address is a link on a terminal that does not say
                    it can show one; 0: it is not

The token comes from --token, TOOL_HUB_TOKEN, or the login file. The address comes
from --origin, TOOL_API_ORIGIN, the login file when the token came from there too,
or the default, ` + identity.DefaultOrigin + `. A stored token goes to no other address than
the one it was stored for.`

const exitCodesHelp = `Exit codes of every command.

  0    done, or aborted by your own no
  1    failed; with --json the result on stdout is of type failed
  2    usage: an argument or a flag is missing, unknown or malformed
  129  the terminal was closed
  130  ctrl-c, or the end of the input at a question
  143  SIGTERM

A failure names its stage:

  read         the workspace, client.json, or the files to push
  stack        stack.json (create, publish)
  destination  which hub project is meant (push, pull, rm, view)
  api          the API description or its registration (create)
  create       what the hub checks before it creates, and the creation
  seed         the new project's first config or base files
  push, pull, publish, rm
               the calls to the hub
  write        client.json, after the hub has done its part (create, pull)

Every other command fails at a stage of its own name.`

const resultsHelp = `With --json a command prints exactly one JSON document on stdout, whatever happens
short of a usage error. Members are only ever added.

Every result has type, schema (1) and command; those that talked to a hub have origin.

  created      project, stack, stackVersion, api, apiRegistered, visibility, url,
               revision, enrichmentCount, baseFilesPushed, remoteWritten, projectName
  pushed       project, revision, configChanged, overwroteExistingConfig, replaced,
               enrichmentCount, baseFilesPushed, remoteWritten, projectName, and with
               base files: baseFilesAdded, baseFilesChanged, baseFilesRemoved,
               baseFilesUploaded, baseFilesSkipped, baseFilesBytesSent
  planned      of push --dry-run: project, revision, hasConfig, config, baseFiles,
               enrichmentCount, authorized; of publish --dry-run: stack, version,
               latest, files, fileCount, bytes, digest, firstVersion,
               alreadyPublished, followers, authorized
  pulled       project, settingsChanged, changes, revision, updatedBy, updatedAt,
               updatedVia, enrichmentCount, baseFilesPulled, projectName, and with
               base files: baseFilesAdded, baseFilesChanged; after --undo no hub was
               asked, so that origin and what was updated are absent
  published    stack, version, digest, sizeBytes, fileCount, firstVersion,
               alreadyPublished, projectName
  removed      project, existed
  aborted      projectName, project
  loggedIn     user, scopes, expiresAt
  loggedOut    existed
  initialized  projectName, files
  status       identity, originSource, projects
  projects     projects
  project      what the hub knows of one project
  version      version, go, os, arch
  failed       projectName, reason, stage, code, and where known hint, recipe, status,
               requestId, errors, project, origin, current, config,
               projectCreated, configWritten, baseFilesWritten, remoteWritten

remoteWritten says that client.json was changed because project or api was recorded
in it. A difference of configs is {"added": {key: value}, "changed": {key: {"from":
value, "to": value}}, "removed": {key: value}} with flat keys. notes are sentences
that text mode prints as note: lines.`
