import { readFileSync } from 'node:fs'
import { digestOfFile } from './folder.ts'

/** The tools of a release in release/node.json: the version of Node.js and npm, and the SHA-256 of the program of Node.js for each platform. */
export function readTools(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync('release/node.json', 'utf8')) as Readonly<Record<string, string>>
}

/** Says that the program is another one than that of release/node.json; nothing if it is that one. `platform`: `linux-x64`. */
export function faultsOfNode(program: string, platform = `${process.platform}-${process.arch}`): readonly string[] {
  const known = readTools()[platform]
  const digest = digestOfFile(program)
  return known === digest
    ? []
    : [`The Node.js at ${program} has the SHA-256 ${digest}, and release/node.json has ${known} for ${platform}.`]
}
