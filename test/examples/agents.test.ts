import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExampleUser, startExample } from '../../tools/example.ts'

test('examples/agents: services with a secret and with a key get tokens, and two processes refresh one sign-in at once', async (t) => {
  const example = startExample(t, 'agents', {})
  const [link = '', email = '', password = ''] = await example.printed(
    /Open (\S+)\nand sign in as (\S+) with .* (\S+)\n/,
  )
  for (const service of ['a secret', 'a key'])
    await example.printed(new RegExp(`a service with ${service}: reports of (gci_\\S+)`))
  const { allow } = openExampleUser(new URL(link).origin, [email, password])
  const { url } = await allow(link, {})
  assert.match(await (await fetch(url)).text(), /close this page/)
  const [, first = '', , second = ''] = await example.printed(
    /(process \d+): reports of (gus_\S+), by gci_\S+\n(process \d+): reports of (gus_\S+), by gci_\S+\n[^]*Both processes are signed in/,
  )
  assert.equal(first, second)
  assert.deepEqual(await example.interrupt(), { code: 0, left: [] })
})
