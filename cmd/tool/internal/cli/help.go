package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/identity"
)

// helpCommand shows the help of a command or a topic, and refuses what is neither.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [<command>]",
		Short: "Show the help of a command or a topic",
		Args: func(_ *cobra.Command, args []string) error {
			found, rest, _ := root.Find(args)
			return cmdline.NoCommand(found, rest)
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

// writeHelp writes a command's description and how it is used, or a topic. It is
// code where cobra has a template, which takes longer to read than all else that
// showing help does.
func writeHelp(w io.Writer, c *cobra.Command) error {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	if _, err := fmt.Fprintln(w, text); err != nil || !c.Runnable() && !c.HasSubCommands() {
		return err
	}
	fmt.Fprintln(w)
	return writeUsage(w, c)
}

// writeUsage is what help has below a command's description.
func writeUsage(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n  ")
	if c.HasAvailableSubCommands() {
		b.WriteString(c.CommandPath() + " <command>")
		writeCommands(&b, c)
	} else {
		b.WriteString(c.UseLine())
	}
	if c.HasExample() {
		b.WriteString("\n\nExamples:\n" + c.Example)
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString("\n\nFlags:\n" + strings.TrimRight(c.LocalFlags().FlagUsagesWrapped(helpColumns), " \n"))
	}
	if c.HasAvailableInheritedFlags() {
		b.WriteString("\n\nFlags of every command:\n" + strings.TrimRight(c.InheritedFlags().FlagUsagesWrapped(helpColumns), " \n"))
	}
	if c.HasHelpSubCommands() {
		b.WriteString("\n\nMore help:")
		for _, sub := range c.Commands() {
			if sub.IsAdditionalHelpTopicCommand() {
				writeEntry(&b, "tool help ", sub)
			}
		}
	}
	b.WriteString("\n\nExit codes: 0 done, 1 failed, 2 usage; more in tool help exit-codes\n")
	_, err := io.WriteString(w, b.String())
	return err
}

const helpColumns = 80

// writeCommands lists what a command holds, by groups where it has any.
func writeCommands(b *strings.Builder, c *cobra.Command) {
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, group := range groups {
		b.WriteString("\n\n" + group.Title)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && sub.GroupID == group.ID {
				writeEntry(b, "", sub)
			}
		}
	}
}

func writeEntry(b *strings.Builder, before string, c *cobra.Command) {
	fmt.Fprintf(b, "\n  %s%-*s %s", before, c.NamePadding(), c.Name(), c.Short)
}

// topics returns the help that belongs to no command.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "environment", Short: "Environment variables", Long: environmentHelp},
		{Use: "exit-codes", Short: "Exit codes and stages", Long: exitCodesHelp},
		{Use: "results", Short: "JSON results", Long: resultsHelp},
	}
}

var environmentHelp = `Environment variables. An empty one counts as unset.

  TOOL_HUB_TOKEN    personal access token, if --token is not given
  TOOL_API_ORIGIN   hub's address, if --origin is not given
  TOOL_ENV          environment of a project, if --env is not given
  TOOL_CONFIG_DIR   directory of the login file (default: tool in the user's
                    configuration directory)
  TOOL_STATE_DIR    directory of the undo history of push and pull
                    (default: tool in the user's state directory)
  TOOL_CA_FILE      PEM certificates to trust in addition to the system's
  TOOL_ALLOW_HTTP   1: send tokens over plain http beyond this machine too
  HTTPS_PROXY       proxy for https
  NO_PROXY          hosts that are reached without the proxy
  CI                set, and not 0 or false: ask nothing, as with --no-input
  ACCESSIBLE        1 asks in plain lines, for a screen reader; TERM=dumb too
  NO_COLOR          any value: no colour
  CLICOLOR_FORCE    1: colours on a terminal that does not say it has them
  FORCE_HYPERLINK   1: the page's address is a link on a terminal that does not
                    say it can show one; 0: it is not

The token comes from --token, TOOL_HUB_TOKEN, or the login file. The address
comes from --origin, the environment of --env, TOOL_API_ORIGIN, the login file
if the token came from there too, or the default, ` + identity.DefaultOrigin + `.
In a workspace whose .tool/hub.json names a hub, only the login of that hub is
used. A stored token is sent to no other address than the one it was stored for,
any other token to none that only the file of an environment names.`

const exitCodesHelp = `Exit codes of every command.

  0    done, or aborted by your own no
  1    failed; with --json the result on stdout is of type failed
  2    usage: an argument or a flag is missing, unknown or malformed
  3    diff or status with --exit-code: something differs
  129  the terminal was closed
  130  ctrl-c, or the end of the input at a question
  143  SIGTERM

A failure names its stage:

  read         the workspace, client.json, or the files to push
  stack        stack.json (create, publish, preview)
  destination  the choice of the hub project (push, pull, diff, log, show,
               restore, rm, view, preview)
  api          the API description or its registration (create, preview)
  create       what the hub checks before it creates, and the creation
  seed         the new project's first config or base files
  push, pull, publish, rm
               the calls to the hub
  write        client.json, after the hub has done its part (create, pull)

Every other command fails at a stage of its own name.`

const resultsHelp = `With --json a command prints exactly one JSON document on stdout, except for a
usage error. Members are only ever added.

Every result has type, schema (1) and command; those that called a hub have
origin, and those about a project in an environment have environment.

  created      project, stack, stackVersion, resolvedStackVersion, api,
               apiRegistered, visibility, url, revision, enrichmentCount,
               baseFilesPushed, remoteWritten, projectName
  copied       the new project as the hub describes it, copyOf
  pushed       project, revision, configChanged, overwroteExistingConfig,
               replaced, enrichmentCount, baseFilesPushed, remoteWritten,
               projectName, and with base files: baseFilesAdded,
               baseFilesChanged, baseFilesRemoved, baseFilesUploaded,
               baseFilesSkipped, baseFilesBytesSent
  planned      of push --dry-run: project, revision, hasConfig, config,
               baseFiles, enrichmentCount, authorized; of publish --dry-run:
               stack, version, latest, files, fileCount, bytes, digest,
               firstVersion, alreadyPublished, followers, authorized
  pulled       project, settingsChanged, changes, revision, updatedBy,
               updatedAt, updatedVia, enrichmentCount, baseFilesPulled,
               merged, conflicts (those that were resolved), keysTaken from the
               hub, keysKept, projectName, and with base files: baseFilesAdded,
               baseFilesChanged; after --undo no hub was asked, so that origin
               and what was updated are absent; after --base-files-only
               revision is absent
  diff         project, same, changes (from the config to client.json's
               settings), revision, updatedBy, updatedAt, updatedVia, hasConfig,
               projectName
  log          project, config or with --base-files baseFiles (entries, newest
               first), more, projectName
  revision     of show: project, revision, parent, updatedBy, updatedAt,
               updatedVia, tokenName, requestId, added, changed, removed,
               changes (null if what it replaced is not kept), projectName
  restored     project, revision, replaced, changed, config or with --base-files
               baseFiles, projectName; of restore --dry-run it is planned
  published    stack, version, digest, sizeBytes, fileCount, firstVersion,
               alreadyPublished, projectName
  removed      project, existed; ambiguous if it is not known whether it existed
  apis         apis
  api          one API as the hub describes it; of api update: changed
  apiRemoved   api, existed
  aborted      projectName, project
  loggedIn     user, scopes, expiresAt, restriction
  loggedOut    existed, current
  invitation   account, role, url, expiresAt
  members      account, members
  member       account, user, role
  memberRemoved
               account, user, existed; ambiguous if it is not known whether the
               user was a member
  bots         bots
  bot          bot, existed
  token        id, name, token, shown, scopes, account, project, createdAt,
               expiresAt
  tokens       tokens
  tokensRevoked
               tokens, each with alsoRevoked if others ended with it;
               loggedOut
  botToken     bot, id, name, token, scopes, expiresAt
  botTokens    bot, tokens
  botTokensRevoked
               tokens
  botRemoved   bot, existed, revoked; ambiguous if it is not known whether it
               existed
  rateLimit    bot, limits, revision, usage, changed
  initialized  projectName, workspace, files
  checked      workspace, projects, findings
  several      results: the result of each of several local projects
  status       identity, originSource, projects
  projects     projects
  project      one project as the hub describes it
  preview      projectName, url, local
  version      version, go, os, arch
  failed       projectName, reason, stage, code, and if known hint, recipe,
               status, requestId, errors, project, origin, current, config,
               edits, conflicts, and what was already applied: projectCreated,
               configWritten, baseFilesWritten, remoteWritten, settingsChanged
               (in client.json); of check: findings; of
               several local projects, code some_failed: results, those of
               all of them, in order

remoteWritten says that client.json was changed because project or api was
recorded in it. A difference of configs is {"added": {key: value}, "changed":
{key: {"from": value, "to": value}}, "removed": {key: value}} with flat keys.
notes are sentences that text mode prints as note: lines. findings are
{"severity", "projectName", "file", "line", "column", "detail"}.`
