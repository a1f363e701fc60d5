/** What a page calls: `window.track` where the script is embedded, or the result of `createTracker`. */
export interface Track {
    /**
     * Sends an event. One with equal name and data is sent once until the route changes.
     * @param data becomes the event's `data`: `ids`, `value` and `transId` have a meaning of their own, other keys are labels
     */
    event(name: string, data?: Record<string, unknown>): void;
    /** Makes the person known by this identifier from now on, in other tabs and visits too. */
    identify(clientId: string | number): void;
    /** The identifier of the known person; undefined while there is none, or nothing may be stored. */
    getClientId(): string | undefined;
    /** The identifier of this device; undefined while nothing may be stored. */
    getTmpId(): string | undefined;
    /**
     * True lets a tracker that waits for consent begin with what it was called with before. False deletes everything
     * that the tracker has stored and ends it, in other open tabs too, until true comes.
     */
    consent(given: boolean): void;
    /** Calls `run` as soon as storing and sending are allowed, which may be at once or never. */
    ready(run: () => void): void;
}
export interface TrackerOptions {
    /** The company's identifier, which events carry as `key`. */
    company: string;
    /** Identifier of the tracking datasource. */
    datasource: string;
    /** Address of the service, such as `https://events.example/`. */
    collector: string | URL;
    /** `required`: nothing is stored or sent before `consent(true)`. */
    consent?: string | undefined;
    /** `respect`: consent is required of a browser that sends Do Not Track or Global Privacy Control. */
    signals?: string | undefined;
    /** Domain of the cookies; without it the widest that the browser accepts. */
    domain?: string | undefined;
}
