import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Changes the signing key of the running server as an operator does. */
export interface SoakKeys {
  /** Creates the next key, which signs in ten seconds, and withdraws the key before the signing key. */
  readonly rotate: () => Promise<void>
}

const MAIN = new URL('../src/cli/main.ts', import.meta.url).pathname
const run = promisify(execFile)

export function openSoakKeys(settings: Readonly<Record<string, string>>): SoakKeys {
  const made: string[] = []

  async function grantor(...args: readonly string[]): Promise<string> {
    const env = { PATH: process.env['PATH'] ?? '', ...settings }
    return (await run(process.execPath, [MAIN, 'key', ...args], { env })).stdout
  }

  return {
    async rotate() {
      const { kid } = JSON.parse(await grantor('rotate', '--now', '--json')) as { kid: string }
      made.push(kid)
      // Tokens live for a minute, so all tokens that the third newest key signed have expired.
      const old = made.at(-4)
      if (old !== undefined) await grantor('retire', old)
    },
  }
}
