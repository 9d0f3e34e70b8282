// What pages do by themselves.
