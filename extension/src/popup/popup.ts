// The popup.
export {};
