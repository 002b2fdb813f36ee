import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

export type RecordType = 'A' | 'AAAA'

/** A name server on this machine (RFC 1035). */
export interface NameServer {
  /** Its address with the port. */
  readonly address: string
  /** Each question so far, such as `A app.test`. */
  readonly questions: readonly string[]
}

/** The addresses of a name; empty: the name has none of this type. `silent`: no answer is sent. */
export type NameAnswer = (name: string, type: RecordType) => readonly string[] | 'silent'

const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 28: 'AAAA' }
/** A response (QR) with recursion (RD, RA). RFC 1035 §4.1.1. */
const RESPONSE_FLAGS = 0x8180
/** A pointer to the name in the question. RFC 1035 §4.1.4. */
const QUESTION_NAME = 0xc00c

export async function openNameServer(test: Pick<TestContext, 'after'>, answer: NameAnswer): Promise<NameServer> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, peer) => {
    const { name, end } = readName(query)
    const type = TYPES[query.readUInt16BE(end)]
    if (type === undefined) return
    questions.push(`${type} ${name}`)
    const addresses = answer(name, type)
    if (addresses !== 'silent') socket.send(respond(query.subarray(0, end + 4), addresses), peer.port, peer.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  test.after(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, questions }
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 1 }
}

/** Repeats the question, and adds a resource record for each address. */
function respond(query: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(query)
  head.writeUInt16BE(RESPONSE_FLAGS, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.fill(0, 8, 12)
  const records = addresses.map((address) => {
    const data = bytesOf(address)
    const record = Buffer.alloc(12)
    record.writeUInt16BE(QUESTION_NAME, 0)
    record.writeUInt16BE(data.length === 4 ? 1 : 28, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  return Buffer.concat([head, ...records])
}

/** The bytes of an address. The URL parser writes IPv6 addresses without dots and leading zeros. */
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number))
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [left = [], right = []] = plain.split('::', 2).map((half) => (half === '' ? [] : half.split(':')))
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
