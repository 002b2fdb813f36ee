#!/usr/bin/env node
// Plain old syntax on purpose: this file must run on any Node, to say which one is needed or to start it.
'use strict'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isNewEnough, NEEDED_NODE } from './this-node.js'

/** A checkout runs its sources; the published package has none, and runs what was compiled from them. */
const sources = new URL('../src/cli/main.ts', import.meta.url)
const isCheckout = existsSync(sources)

if (['start', 'grantor', 'npx'].includes(process.env.npm_lifecycle_event)) endWithShell()

if (isNewEnough) {
  const { keepCompiled } = await import('./compile-cache.js')
  keepCompiled()
  const { runMain } = await import(isCheckout ? sources : new URL('../lib/cli/main.js', import.meta.url))
  await runMain()
} else if (isCheckout) {
  const { findBundledNode, runOn } = await import('./other-node.js')
  const node = findBundledNode()
  if (node === undefined) refuse('Run "npm install" in its folder: that brings one.')
  runOn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)))
} else {
  refuse('Install the current LTS release of Node.js, or try: npx -p node@26 grantor serve')
}

/** npm sends SIGTERM to the shell in which it started this program, which ends and hands nothing on. */
function endWithShell() {
  const shell = process.ppid
  const watch = setInterval(function () {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}

function refuse(advice) {
  console.error('Grantor needs Node.js ' + NEEDED_NODE + ', and this is ' + process.version + '. ' + advice)
  process.exit(1)
}
