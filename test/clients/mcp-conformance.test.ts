import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../tools/process/free-ports.ts'
import { openPerson } from '../../tools/person.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))

// A new scenario of the suite changes the count, and fails until it is looked at.
test(
  'the conformance suite of MCP passes its three checks of an authorization server',
  { timeout: 60_000 },
  async (t) => {
    const server = await openTestServer(t, { listen: true })
    await createAda(server)
    const port = await freePort()
    const { client_id: id } = await perform(server.context, 'client.create', {
      client_name: 'Conformance',
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: 'none',
    })
    const options = ['--url', server.origin, '--client-id', String(id), '--port', String(port)]
    const suite = spawn(
      process.execPath,
      [SUITE, 'authorization', ...options, '--resource', 'https://mcp.example.com/mcp'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    t.after(() => suite.kill('SIGKILL'))
    const ended = once(suite, 'exit')
    const person = openPerson(server.origin)
    const lines: string[] = []
    for await (const line of createInterface({ input: suite.stdout })) {
      lines.push(line)
      if (line.startsWith(`${server.origin}/v2/oauth/authorize?`)) await fetch(await person.allow(line))
    }
    const said = lines.join('\n')
    assert.match(said, /^Total: 3 passed, 0 failed$/m, said)
    assert.deepEqual(await ended, [0, null], said)
  },
)
