import { readFileSync, writeFileSync } from 'node:fs'

/** The files that name images of others. */
const FILES = [
  'deploy/container/Dockerfile',
  'deploy/compose/compose.yaml',
  'deploy/compose/compose.postgres.yaml',
] as const
/** An image of Docker Hub with a tag, and perhaps the digest of the last release. */
const IMAGE = /^(FROM|\s*image:) ([a-z]+:[\w.-]+)(@sha256:[0-9a-f]{64})?(?= |$)/gm
const HUB = 'https://registry-1.docker.io'
/** An index names the images of all platforms. */
const INDEX = 'application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json'
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** Returns the digest that the tag of each image has now. @throws Error when the registry does not answer with one */
export async function fetchDigests(): Promise<ReadonlyMap<string, string>> {
  const images = new Set(FILES.flatMap((path) => imagesIn(readFileSync(path, 'utf8'))))
  return new Map(await Promise.all([...images].map(async (image) => [image, await fetchDigest(image)] as const)))
}

/** Pins the images in the files, so that a release that is built later is the same. */
export function pinDigests(digests: ReadonlyMap<string, string>): void {
  for (const path of FILES) writeFileSync(path, withDigests(readFileSync(path, 'utf8'), digests))
}

/** The images with tags that a Dockerfile or a compose file names. */
export function imagesIn(text: string): readonly string[] {
  return [...text.matchAll(IMAGE)].map(([, , image = '']) => image)
}

/** Returns the text in which each of these images has its digest. */
export function withDigests(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replaceAll(IMAGE, (line, before: string, image: string) => {
    const digest = digests.get(image)
    return digest === undefined ? line : `${before} ${image}@${digest}`
  })
}

/**
 * Asks a registry for the digest of an image. OCI Distribution Specification 1.1, "Pulling manifests"; the token is that of Docker's
 * registry authentication.
 *
 * @throws Error when the registry does not answer with a digest
 */
export async function fetchDigest(image: string, registry = HUB): Promise<string> {
  const [name = '', tag = ''] = image.split(':')
  const address = `${registry}/v2/library/${name}/manifests/${tag}`
  const ask = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(address, { method: 'HEAD', headers: { accept: INDEX, ...headers } })
  const first = await ask({})
  const answer = first.status === 401 ? await ask({ authorization: `Bearer ${await fetchToken(first)}` }) : first
  const digest = answer.headers.get('docker-content-digest') ?? ''
  if (!answer.ok || !DIGEST.test(digest))
    throw new Error(`The registry names no digest of ${image} (${answer.status}).`)
  return digest
}

/** Gets a token for what the registry refused without one. */
async function fetchToken(refused: Response): Promise<string> {
  const challenge = refused.headers.get('www-authenticate') ?? ''
  const { realm = '', ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const answer = await fetch(`${realm}?${new URLSearchParams(query)}`)
  const { token } = (await answer.json()) as { readonly token?: string }
  if (token === undefined) throw new Error(`${realm} gives no token.`)
  return token
}
