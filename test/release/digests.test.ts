import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { fetchDigest, imagesIn, withDigests } from '../../release/digests.ts'
import { parseDockerfile } from '../../prove/container/dockerfile.ts'

const [OLD, NEW] = [`sha256:${'0'.repeat(64)}`, `sha256:${'a'.repeat(64)}`]

test('a release pins each image of others, also one that the release before pinned', () => {
  const dockerfile = readFileSync('deploy/container/Dockerfile', 'utf8')
  const compose = readFileSync('deploy/compose/compose.postgres.yaml', 'utf8')
  const [node = ''] = imagesIn(dockerfile)
  assert.deepEqual(imagesIn(dockerfile), [node, node])
  assert.deepEqual(
    imagesIn(compose).map((image) => image.split(':')[0]),
    ['caddy', 'postgres'],
  )
  const once = withDigests(dockerfile, new Map([[node, OLD]]))
  const again = withDigests(once, new Map([[node, NEW]]))
  assert.deepEqual(imagesIn(again), [node, node])
  assert.deepEqual(new Set(parseDockerfile(again).map(({ base }) => base)), new Set([`${node}@${NEW}`]))
  assert.equal(again.replaceAll(`@${NEW}`, ''), dockerfile)
})

test('OCI Distribution 1.1: the digest of an index is read with the token that the registry asks for', async (t) => {
  const registry = createServer((request, response) => {
    const { port } = registry.address() as { readonly port: number }
    const realm = `Bearer realm="http://127.0.0.1:${port}/token",service="hub",scope="repository:library/node:pull"`
    if (request.url === '/token?service=hub&scope=repository%3Alibrary%2Fnode%3Apull')
      return response.end('{"token":"t"}')
    if (request.headers.authorization !== 'Bearer t')
      return response.writeHead(401, { 'www-authenticate': realm }).end()
    const isKnown = request.url === '/v2/library/node/manifests/26'
    return response.writeHead(isKnown ? 200 : 404, isKnown ? { 'docker-content-digest': NEW } : {}).end()
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  t.after(() => registry.close())
  const { port } = registry.address() as { readonly port: number }
  assert.equal(await fetchDigest('node:26', `http://127.0.0.1:${port}`), NEW)
  await assert.rejects(fetchDigest('node:27', `http://127.0.0.1:${port}`), /names no digest of node:27 \(404\)/)
})
