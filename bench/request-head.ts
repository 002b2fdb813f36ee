import type { Slice } from './slice.ts'

/** The request up to the length of its body. For a request without a body, the whole request. */
export function headOf({
  method,
  path,
  port,
  contentType,
}: Pick<Slice, 'method' | 'path' | 'port' | 'contentType'>): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'User-Agent: grantor-bench',
    'Accept: application/json',
  ]
  return [...lines, ...(method === 'GET' ? ['', ''] : [`Content-Type: ${contentType}`, 'Content-Length: '])].join(
    '\r\n',
  )
}
