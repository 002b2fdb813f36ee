import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { runHere } from '../support/command.ts'
import { temporaryFolder } from '../support/server.ts'

interface Asked {
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly input: string
}

const COMMAND = 'bin/grantor.js'

/** Hands a command line to this process, and gives what it says. */
const ASK = `import { connect } from 'node:net'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
const [path, ...words] = process.argv.slice(2)
const asked = connect(path)
asked.end(JSON.stringify({ words, environment: process.env, input: words.includes('-') ? readFileSync(0, 'utf8') : '' }))
const { code, stdout, stderr } = JSON.parse(await text(asked))
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code
`

/**
 * Returns a variable for the bash of a page, in which `node bin/grantor.js` runs its commands within this process, one after the other. A page
 * has dozens, and a process of its own takes ten times as long to start as a command runs. Only servers, which pages start in the background,
 * are processes. In `npm run prove long-tests` all commands are (pages.long.ts).
 */
export async function openPageCommands(test: TestContext): Promise<Readonly<Record<string, string>>> {
  const folder = temporaryFolder(test)
  const [path, ask] = [join(folder, 'socket'), join(folder, 'ask.mjs')]
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket)).listen(path)
  test.after(() => server.close())
  await once(server, 'listening')
  writeFileSync(ask, ASK)
  // A function of that name, because pages put the Node.js of this checkout first on the path.
  const node = `() {
    if [ "$1 $2" = '${COMMAND} serve' ]; then exec node "$@"; fi
    if [ "$1" = ${COMMAND} ]; then shift; set -- '${ask}' '${path}' "$@"; fi
    command node "$@"
  }`
  return { 'BASH_FUNC_node%%': node }
}

async function answer(socket: Socket): Promise<void> {
  let asked = ''
  // An iterator would destroy the socket at the end.
  socket.setEncoding('utf8').on('data', (piece: string) => void (asked += piece))
  await once(socket, 'end')
  const { words, environment, input } = JSON.parse(asked) as Asked
  socket.end(JSON.stringify(await runHere({ environment }, words, { input, command: `node ${COMMAND}` })))
}
