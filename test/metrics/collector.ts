import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A span as it came over the wire. */
export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** '' for the first of a trace. */
  readonly parentId: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, string | number>>
  /** 2: an error. */
  readonly status: number
  readonly links: readonly string[]
  readonly nanoseconds: bigint
}

export interface Collector {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Everything that came, as text. */
  readonly text: () => string
  readonly requests: readonly { readonly path: string | undefined; readonly headers: IncomingHttpHeaders }[]
  readonly resource: Readonly<Record<string, string | number>>
}

/** Receives traces as OpenTelemetry collectors do: protobuf over HTTP. `status` is the status of its responses. */
export async function openCollector(test: Pick<TestContext, 'after'>, status = 200): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const requests: { path: string | undefined; headers: IncomingHttpHeaders }[] = []
  const resource: Record<string, string | number> = {}
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const body = Buffer.concat(chunks)
      bodies.push(body.toString('latin1'))
      requests.push({ path: message.url, headers: message.headers })
      for (const part of children(body, 1)) {
        for (const one of children(part, 1)) Object.assign(resource, attributesOf(one, 1))
        spans.push(
          ...children(part, 2)
            .flatMap((scope) => children(scope, 2))
            .map(spanOf),
        )
      }
      response.writeHead(status, { 'Content-Type': 'application/x-protobuf' }).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, spans, requests, resource, text: () => bodies.join('\n') }
}

type Field = { readonly number: number; readonly value: Buffer | bigint }

/** The fields of a protobuf message, https://protobuf.dev/programming-guides/encoding/. */
function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const take = (length: number): Buffer => message.subarray(at, (at += length))
  while (at < message.length) {
    const tag = Number(varint())
    const number = tag >> 3
    if ((tag & 7) === 0) fields.push({ number, value: varint() })
    else if ((tag & 7) === 1) fields.push({ number, value: take(8).readBigUInt64LE() })
    else if ((tag & 7) === 5) fields.push({ number, value: BigInt(take(4).readUInt32LE()) })
    else fields.push({ number, value: take(Number(varint())) })
  }
  return fields
}

function children(message: Buffer, number: number): readonly Buffer[] {
  return fieldsOf(message).flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  )
}

function numberAt(message: Buffer, number: number): bigint {
  const value = fieldsOf(message).find((field) => field.number === number)?.value
  return typeof value === 'bigint' ? value : 0n
}

/** opentelemetry/proto/trace/v1/trace.proto, message Span. */
function spanOf(span: Buffer): ReceivedSpan {
  const bytes = (number: number): Buffer => children(span, number)[0] ?? Buffer.alloc(0)
  return {
    traceId: bytes(1).toString('hex'),
    spanId: bytes(2).toString('hex'),
    parentId: bytes(4).toString('hex'),
    name: bytes(5).toString(),
    kind: Number(numberAt(span, 6)),
    nanoseconds: numberAt(span, 8) - numberAt(span, 7),
    attributes: attributesOf(span, 9),
    links: children(span, 13).map((link) => (children(link, 2)[0] ?? Buffer.alloc(0)).toString('hex')),
    status: Number(numberAt(bytes(15), 3)),
  }
}

/** KeyValue: the key in 1; in 2 a value that is a text (1), an integer (3) or a double (4). */
function attributesOf(message: Buffer, number: number): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    children(message, number).map((pair) => {
      const [key = Buffer.alloc(0)] = children(pair, 1)
      const [value = Buffer.alloc(0)] = children(pair, 2)
      const [text] = children(value, 1)
      return [key.toString(), text === undefined ? Number(numberAt(value, 3)) : text.toString()]
    }),
  )
}
