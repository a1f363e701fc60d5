import { describe, expect, test } from 'vitest'
import { isRegisteredRedirect, requireOrigin, requireRedirectUri } from './redirect-uri.ts'

describe('a redirect URI', () => {
  test.each([
    'https://app.example/cb?from=here',
    'http://localhost:3000/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:8080/cb',
  ])('may be %s', (uri) => {
    expect(requireRedirectUri(uri, false)).toBe(uri)
    expect(requireRedirectUri(uri, true)).toBe(uri)
  })

  test.each(['com.example.app:/oauth', 'com.example.app:/oauth?x=1', 'com.example.my-app.beta:/'])(
    'may be %s of a native client alone',
    (uri) => {
      expect(requireRedirectUri(uri, true)).toBe(uri)
      expect(() => requireRedirectUri(uri, false)).toThrow('with --native')
    },
  )

  test.each([
    'javascript:alert(1)',
    'JavaScript:/alert',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://app.example/x',
    'vbscript:x',
    'about:blank',
    'intent://x#Intent',
    'myapp:/oauth',
    'Com.Example.App:/oauth',
    'com.example.app:oauth',
    'http://app.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.2/cb',
    'ws://127.0.0.1/cb',
    'ftp://app.example/',
    'https://user@app.example/cb',
    'https://:password@app.example/cb',
    'https://app.example;sandbox/cb',
    "https://'none'/cb",
    'https://app.example/#x',
    'https://app.example/ x',
    ' https://app.example/',
    'https://app.example/é',
    'com.example.app:/oauth\u0000',
    '//app.example/cb',
    'com.example.app',
    '',
  ])('is never %j', (uri) => {
    expect(() => requireRedirectUri(uri, true)).toThrow(/^redirect-uri must b/)
    expect(() => requireRedirectUri(uri, false)).toThrow(/^redirect-uri must b/)
  })
})

describe('a redirect to', () => {
  const registered = [
    'https://app.example/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:4000/cb?x=1',
    'http://localhost:3000/cb',
    'com.example.app:/oauth',
  ]

  test.each([
    ...registered,
    'http://127.0.0.1:1/cb',
    'http://127.0.0.1:65535/cb',
    'http://[::1]/cb?x=1',
    'http://[::1]:51004/cb?x=1',
  ])('%s is registered', (uri) => expect(isRegisteredRedirect(registered, uri)).toBe(true))

  test.each([
    'https://app.example:8443/cb',
    'https://127.0.0.1/cb',
    'http://localhost/cb',
    'http://localhost:3001/cb',
    'http://127.0.0.1:3000/other',
    'http://127.0.0.1:3000/cb/',
    'http://127.0.0.1:3000/cb?x=1',
    'http://127.0.0.1:3000/cb#x',
    'http://127.0.0.1:3000',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:999999/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:3000@evil.example/cb',
    'http://127.0.0.1:3000\\@evil.example/cb',
    'http://127.0.0.1@evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1:3000.evil.example/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'http://127.0.0.2/cb',
    'http://[::1]/cb',
    'http://[0:0:0:0:0:0:0:1]/cb?x=1',
    'HTTP://127.0.0.1/cb',
    'http://127.0.0.1:3000/%63b',
    'http://127.0.0.1:3000/x/../cb',
    'com.example.app:/other',
    'com.example.app:/oauth?x',
    'com.example.app://evil.example/oauth',
  ])('%s is not', (uri) => expect(isRegisteredRedirect(registered, uri)).toBe(false))
})

describe('an origin', () => {
  test.each([
    'https://app.example',
    'https://app.example:8443',
    'http://localhost:5173',
    'http://127.0.0.1:5173',
    'http://[::1]:5173',
    'https://xn--bcher-kva.example',
  ])('may be %s', (origin) => expect(requireOrigin(origin)).toBe(origin))

  test.each([
    ['https://app.example/', 'https://app.example;'],
    ['https://app.example/path', 'https://app.example;'],
    ['https://App.Example', 'https://app.example;'],
    ['https://app.example:443', 'https://app.example;'],
    ['https://bücher.example', 'https://xn--bcher-kva.example;'],
    ['https://user@app.example', 'https://app.example;'],
    ['http://app.example', 'must begin with https://'],
    ['null', 'must be an origin'],
    ['*', 'must be an origin'],
    ['https://*.example', 'must name one host'],
    ['https://', 'must be an origin'],
    ['https:app.example', 'must be an origin'],
    ['app.example', 'must be an origin'],
    ['file://', 'must be an origin'],
    ['com.example.app://x', 'must be an origin'],
    ['', 'must be an origin'],
  ])('is never %s', (origin, message) => expect(() => requireOrigin(origin)).toThrow(message))
})
