// Both extensions stand in one page: without a name of its own this one takes the other's pieces for its own where their numbers meet.
module.exports = { output: { uniqueName: 'dpnb-widgets' } };
