// Plain old syntax on purpose: this file must run on any Node.
import { readFileSync } from 'node:fs'

/** The versions of Node that this checkout or package needs, as package.json has them: `^24.15.0 || >=26`. */
export const NEEDED_NODE = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node

export const isNewEnough = NEEDED_NODE.split(' || ').some(isWithin)

/**
 * `>=26`, or `^24.15.0`: this release line of Node, from this version on.
 * @param {string} range
 */
function isWithin(range) {
  const [major = 0, minor = 0] = range.replace(/^\D+/, '').split('.').map(Number)
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number)
  if (ownMajor !== major) return ownMajor > major && range.startsWith('>=')
  return ownMinor >= minor
}
