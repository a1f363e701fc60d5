import type { OperationData, OperationRequest } from '@millrace/sdk'

export type Dashboard = OperationData<'readDashboard'>
export type DashboardInput = NonNullable<OperationRequest<'createDashboard'>['body']>
export type Tile = Dashboard['tiles'][number]
export type TileQuery = NonNullable<Tile['query']>

/** Where a tile lies on the grid of 12 columns. */
export type Place = Pick<Tile, 'id' | 'x' | 'y' | 'w' | 'h'>

export const columns = 12
export const maxTiles = 40
export const maxTileRows = 24
/** Pixels of a row of the grid, and between two of them. */
export const rowHeight = 64
export const gap = 16

export const heightOf = (rows: number): number => rows * rowHeight + (rows - 1) * gap

export const newTileId = (): string => crypto.randomUUID().slice(0, 8)
