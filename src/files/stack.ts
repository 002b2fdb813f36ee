import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The sources, or in the published package the folder of the files that were made of them (release/bundle.ts). */
const FOLDER = import.meta.url.replace(/[^/]+\/[^/]+$/, '')
const PLACE = /file:\/\/[^\s)]+\.js:\d+:\d+/g
/** By place, because an error may be logged for each of many requests. There are no more than places in the code. */
const names = new Map<string, string | undefined>()
/** The line that begins what was made of a source. */
const SOURCE = /^\/\/ (src\/\S+)$/

/** The stack of an error, with the source of each place in the published package: `src/server/server.ts, file:///…/chunk-6G.js:12:3`. */
export function nameSources(stack: string): string {
  return stack.replaceAll(PLACE, (place) => {
    const [, file = '', line = ''] = /^(.+):(\d+):\d+$/.exec(place) ?? []
    if (!names.has(place) && file.startsWith(FOLDER)) names.set(place, nameAt(fileURLToPath(file), Number(line)))
    const name = names.get(place)
    return name === undefined ? place : `${name}, ${place}`
  })
}

function nameAt(path: string, line: number): string | undefined {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n', line) : []
  return SOURCE.exec(lines.findLast((text) => SOURCE.test(text)) ?? '')?.[1]
}
