import type { Slice } from './slice.ts'

/** Everything before the length of a body, and without one everything. */
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
