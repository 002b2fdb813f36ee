import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../../../src/admin/doctor/finding.ts'
import { runHere } from '../../support/command.ts'
import { openDocumentHost } from '../../support/document-host.ts'
import { openPlace } from '../../support/process.ts'

test('doctor --client-document fetches a document as the server does, and says what is wrong', async (t) => {
  const place = await openPlace(t)
  const host = await openDocumentHost(t)
  const { client_id: url } = host.client()

  async function examine(address: string, environment: Record<string, string> = {}): Promise<string> {
    const { stdout } = await runHere(place, ['doctor', '--json', '--client-document', address], { environment })
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
    return findings
      .filter(({ check }) => check === 'document')
      .map(({ verdict, message, remedy }) => [verdict, message, remedy].join(' '))
      .join('\n')
  }

  assert.match(await examine(url), /^ok .* is the client Example: none, authorization_code, refresh_token\. $/)
  host.publish({ client_id: 'https://other.example/' })
  assert.match(await examine(url), /^failed .* client_id is not the URL of the document\. Correct it\.$/)
  host.publish({ redirect_uris: ['javascript:alert(1)'] })
  assert.match(await examine(url), /^failed .* redirect_uris\.0: The redirect URI has a scheme that browsers execute/)
  host.answer((_request, response) => void response.writeHead(403).end())
  assert.match(await examine(url), /^failed .* cannot be used: status 403\. The host refuses/)
  host.answer((_request, response) => void response.writeHead(301, { location: '/' }).end())
  assert.match(await examine(url), /^failed .* cannot be used: redirect\. The document must be at the URL itself\.$/)
  assert.match(await examine(new URL('/', url).href), /^failed .* is no client_id: The URL has no path\./)
  assert.match(
    await examine(url, { GRANTOR_OUTBOUND: 'off' }),
    /^failed .* cannot be used: off\. .* GRANTOR_OUTBOUND=on/,
  )
  host.publish({})
  const closed = await examine(url, { GRANTOR_CLIENT_DOCUMENTS: 'off' })
  assert.match(closed, /^warning The server accepts no new client with a document\..*\nok /)
})
