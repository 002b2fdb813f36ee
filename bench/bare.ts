import { once } from 'node:events'
import type { Children } from './children.ts'
import type { BareServer } from './measure.ts'
import type { BareMessage } from './slice.ts'

/** Starts the bare server, the reference of all ratios, on the given core. undefined: on any core. */
export async function startBare(children: Children, core: number | undefined): Promise<BareServer> {
  const child = children.start({ script: new URL('./bare-server.ts', import.meta.url), core })
  const [listening] = (await once(child, 'message')) as [BareMessage]
  if (listening.kind !== 'listening') throw new Error('The bare server did not start.')
  return {
    pid: child.pid,
    port: listening.port,
    async imitate(answer) {
      const set = once(child, 'message')
      child.send(answer)
      await set
    },
  }
}
