// Plain old syntax on purpose: this file must run on any Node.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
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

/** In the package's own folder, or hoisted to where the packages of its user are. */
export function findBundledNode() {
  const program = process.platform === 'win32' ? 'node.exe' : 'node'
  const folders = [fileURLToPath(new URL('../node_modules/' + packageName(), import.meta.url))]
  try {
    folders.push(dirname(createRequire(import.meta.url).resolve(packageName() + '/package.json')))
  } catch (cause) {
    if (cause.code !== 'MODULE_NOT_FOUND') throw cause
  }
  return folders
    .map(function (folder) {
      return join(folder, 'bin', program)
    })
    .find(existsSync)
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
