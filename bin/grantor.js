#!/usr/bin/env node
// Plain old syntax on purpose: this file must run on any Node, to say which one is needed or to start it.
'use strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED_MAJOR = 26
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
// Node does not read TypeScript below node_modules, where a package manager puts this package.
const isInstalled = /[\\/]node_modules[\\/]/.test(main)
const isNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR

if (isNewEnough && !isInstalled) {
  await import(main)
} else {
  const node = isNewEnough ? process.execPath : findBundledNode()
  if (node === undefined) {
    console.error(
      'Grantor needs Node.js ' +
        NEEDED_MAJOR +
        ' or newer; this is ' +
        process.version +
        '. Run "npm install" in its folder: that brings one.',
    )
    process.exit(1)
  }
  run(node)
}

/** In the package's own folder, or hoisted to where the packages of its user are. */
function findBundledNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const folders = [fileURLToPath(new URL('../node_modules/node', import.meta.url))]
  try {
    folders.push(dirname(createRequire(import.meta.url).resolve('node/package.json')))
  } catch (cause) {
    if (cause.code !== 'MODULE_NOT_FOUND') throw cause
  }
  return folders
    .map(function (folder) {
      return join(folder, 'bin', name)
    })
    .find(existsSync)
}

/** Hands every signal on, and ends as the child does. */
function run(node) {
  const hook = new URL('./read-typescript.js', import.meta.url).href
  const flags = isInstalled ? ['--disable-warning=ExperimentalWarning', '--import', hook] : []
  const child = spawn(node, flags.concat(main, process.argv.slice(2)), { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    process.on(signal, function () {
      child.kill(signal)
    })
  }
  child.on('error', function (cause) {
    console.error('grantor: ' + node + ' cannot be started: ' + cause.message)
    process.exit(1)
  })
  child.on('exit', function (code, signal) {
    // 128 + n is how a shell tells that signal n ended a process.
    process.exit(signal === null ? code : 128 + constants.signals[signal])
  })
}
