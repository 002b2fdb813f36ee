import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { openMemoryProvider, type MemoryProvider } from '../clients/memory-provider.ts'
import { codeOf, textOf } from '../clients/mcp-walk.ts'
import { sharedBrowser } from '../support/browser.ts'
import { openExampleUser, startExample } from '../../tools/example.ts'

const browser = await sharedBrowser()

async function addNote(provider: MemoryProvider, url: URL): Promise<string> {
  const client = new Client({ name: 'agent', version: '1.0.0' })
  try {
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }))
    return textOf(await client.callTool({ name: 'add', arguments: { text: 'Buy milk' } }))
  } finally {
    await client.close()
  }
}

test('RFC 8693: an agent adds a note by the MCP server of examples/mcp-and-app, and the user sees it in the application', async (t) => {
  const example = startExample(t, 'mcp-and-app', {})
  const [email = '', password = '', app = '', resource = ''] = await example.printed(
    /Sign in as (\S+) with .* (\S+)\nThe application: (\S+)\n.* notes (\S+)\n/,
  )
  const url = new URL(resource)
  const provider = openMemoryProvider()
  await assert.rejects(addNote(provider, url))
  const link = provider.link()
  assert.ok(link)
  const { allow } = openExampleUser(link.origin, [email, password])
  const { url: callback } = await allow(link, {})
  assert.equal(await auth(provider, { serverUrl: url, authorizationCode: codeOf(callback) }), 'AUTHORIZED')
  assert.deepEqual(JSON.parse(await addNote(provider, url)), { text: 'Buy milk', by: resource })

  const context = await browser.newContext()
  const tab = await context.newPage()
  await tab.goto(app)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.getByLabel('Email', { exact: true }).fill(email)
  await tab.getByLabel('Password', { exact: true }).fill(password)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  await tab.getByRole('button', { name: 'Allow', exact: true }).click()
  await tab.getByText(`Buy milk (${resource})`).waitFor()
  await tab.getByLabel('Note').fill('Call Grace')
  await tab.getByRole('button', { name: 'Add' }).click()
  await tab.getByText('Call Grace (notes-app)').waitFor()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByRole('button', { name: 'Sign in' }).waitFor()
  await context.close()
  assert.deepEqual(await example.interrupt(), { code: 0, left: [] })
})
