#!/usr/bin/env node
// Runs the program of the package for this system, which npm installed as an optional dependency.
'use strict'
const { spawn } = require('node:child_process')
const { constants } = require('node:os')

const name = `${require('./package.json').name}-${process.platform}-${process.arch}`
let program
try {
  program = require.resolve(`${name}/bin/tool${process.platform === 'win32' ? '.exe' : ''}`)
} catch {
  console.error(`error: there is no package ${name}\n  hint: install without --omit=optional, on a system that tool is built for`)
  process.exit(1)
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
process.on('SIGINT', () => {}) // ctrl-c reaches the program, too
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (err) => {
  console.error(`error: start ${program}: ${err.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
