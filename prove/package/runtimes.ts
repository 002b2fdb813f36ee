import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFolder } from '../../tools/process/session.ts'
import { runTool } from './tool.ts'

/** The npm package that has Node.js for this platform; npm's package `node` takes its program from the same one. */
const PROGRAM = `node-${process.platform}-${process.arch}`
const installed = new Map<string, string>()

/** Installs a version of Node.js from npm. Returns the folder of its program. */
export function installRuntime(version: string): string {
  const known = installed.get(version)
  if (known !== undefined) return known
  const folder = openProject()
  runTool('npm', ['install', '--silent', '--ignore-scripts', `${PROGRAM}@${version}`], folder)
  const programs = join(folder, 'node_modules', PROGRAM, 'bin')
  if (!existsSync(join(programs, 'node'))) throw new Error(`${PROGRAM}@${version} has no program.`)
  installed.set(version, programs)
  return programs
}

/** An empty project. */
export function openProject(): string {
  const folder = openFolder()
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  return folder
}

/** The command of the package must end with one line that says what to do. */
export function checkOlderNode(runtime: string, packed: string): string {
  const folder = openProject()
  runTool('npm', ['install', '--silent', packed], folder)
  const command = [join(folder, 'node_modules/grantor/bin/grantor.js'), 'serve']
  const { status, stdout, stderr } = spawnSync(join(runtime, 'node'), command, { encoding: 'utf8' })
  const isOneLine = /^Grantor needs Node\.js .* and this is .*\. Install .*\n$/.test(stderr)
  if (status !== 1 || stdout !== '' || !isOneLine) throw new Error(`It ended with ${status}: ${stdout}${stderr}`)
  return stderr.trim()
}
