// Plain old syntax on purpose: this file must run on any Node.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * The package that has Node for this platform. package.json names all of them as optional dependencies, and npm installs the
 * one that fits.
 */
function packageName() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  return [prefix, platform, process.arch].join('-')
}

/** The program of that package; undefined if it is not installed. */
export function findBundledNode() {
  const program = process.platform === 'win32' ? 'node.exe' : 'node'
  const path = fileURLToPath(new URL('../node_modules/' + packageName() + '/bin/' + program, import.meta.url))
  return existsSync(path) ? path : undefined
}

/** Hands every signal on, and ends as the child does. */
export function runOn(node, words) {
  const child = spawn(node, words, { stdio: 'inherit' })
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
