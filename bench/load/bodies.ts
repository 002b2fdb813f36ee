import type { Bodies } from './slice.ts'

/** The bodies of one slice, handed out to its connections. */
export interface BodySource {
  /** The next body, or undefined if none is left. */
  readonly next: (connection: number) => string | undefined
  /** Takes the token for the connection's next request from an answer. Returns the fault of the answer, if it has one. */
  readonly take: (connection: number, answer: string) => string | undefined
  readonly isSpent: () => boolean
  readonly tokens: () => readonly string[]
}

const DIGITS = 9

/** With `isFresh` no body may be used twice. For the bare server, which accepts everything, the list and the tokens start again. */
export function openBodies(bodies: Bodies, isFresh: boolean): BodySource {
  const source = { take: () => undefined, isSpent: () => false, tokens: () => [] }
  switch (bodies.kind) {
    case 'same':
      return { ...source, next: () => bodies.body }
    case 'numbered': {
      let number = bodies.first
      return { ...source, next: () => bodies.before + String(number++).padStart(DIGITS, '0') + bodies.after }
    }
    case 'once': {
      const list = bodies.bodies
      let used = 0
      if (!isFresh) return { ...source, next: () => list[used++ % list.length] }
      return { ...source, next: () => list[used++], isSpent: () => used > list.length }
    }
    case 'chain':
      return openChains(bodies, isFresh)
  }
}

function openChains({ before, member, tokens }: Extract<Bodies, { kind: 'chain' }>, isFresh: boolean): BodySource {
  const newest = [...tokens]
  const mark = `"${member}":"`
  return {
    next(connection) {
      const token = newest[connection]
      return token === undefined ? undefined : before + token
    },
    take(connection, answer) {
      const start = answer.indexOf(mark) + mark.length
      const end = answer.indexOf('"', start)
      if (start < mark.length || end === -1) return `must answer with ${member}`
      const token = answer.slice(start, end)
      if (isFresh && token === newest[connection]) return `gave the same ${member} again`
      newest[connection] = token
      return undefined
    },
    isSpent: () => false,
    tokens: () => newest,
  }
}
