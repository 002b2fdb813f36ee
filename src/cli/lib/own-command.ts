import { existsSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'

/** How this process was started. */
export interface Started {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The path of the program of Node.js, and of the file that it runs. They are equal for the single file. */
  readonly execPath: string
  readonly file: string
  /** The working directory. */
  readonly folder: string
}

/**
 * Returns the command that starts this program again. npx and the scripts of npm start programs that are not on the path of the shell. A
 * checkout has a script for its command, and a service has a script on the path (docs/install.md).
 */
export function ownCommand({ environment, execPath, file, folder }: Started): string {
  const { npm_lifecycle_event: script, npm_package_name: project, PATH = '' } = environment
  if (script !== undefined) return project === 'grantor' && script !== 'npx' ? 'npm run -s grantor --' : 'npx grantor'
  if (PATH.split(':').some((one) => isAbsolute(one) && existsSync(join(one, 'grantor')))) return 'grantor'
  if (file === execPath) return typedPath(file, folder)
  return file.includes('/node_modules/') ? 'npx grantor' : `node ${typedPath(file, folder)}`
}

function typedPath(file: string, folder: string): string {
  const near = relative(folder, file)
  const path = folder === '/' || near.startsWith('..') ? file : near
  const shown = path.includes('/') ? path : `./${path}`
  return /^[\w./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`
}

/** Messages name commands in quotes, in brackets, behind a colon, or on a line of their own, which is indented. */
const NAMED = /(?<=["(`]|: |[:,] or |\bor |=\S+ |^ {2,})grantor (?=[a-z]{3}|\[)/gm

/** Replaces `grantor`, with which each message is written, by the command that starts this program. */
export function replaceCommand(message: string, command: string): string {
  return command === 'grantor' ? message : message.replaceAll(NAMED, () => `${command} `)
}
