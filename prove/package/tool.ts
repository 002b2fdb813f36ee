import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'

const LIMIT_MS = 600_000

/**
 * Runs a program to its end, with this Node.js or another one first on the path. Returns the last line of what it printed.
 *
 * @throws Error with its output, if it is missing or fails
 */
export function runTool(program: string, words: readonly string[], cwd = process.cwd(), runtime?: string): string {
  const PATH = [...(runtime === undefined ? [] : [runtime]), process.env['PATH']].join(delimiter)
  const options = { cwd, encoding: 'utf8', timeout: LIMIT_MS, env: { ...process.env, PATH } } as const
  const { error, status, stdout, stderr } = spawnSync(program, words, options)
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout.trim().split('\n').at(-1) ?? ''
}
